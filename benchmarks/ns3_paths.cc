// Bulk flows over given paths through any network, in ns-3: one line of JSON on stdout, as ns3.cc. bench.py writes the network,
// the flows and their paths, as Tightlink resolved them, and builds this (g++ -O3).
//
//     ns3_paths FILE MODE        MODE: time, or count (link crossings, too)
//
// FILE: a line `run SECONDS NODES PAYLOAD INITIAL_WINDOW INITIAL_SSTHRESH`, lines `link FROM TO RATE DELAY QUEUE`, the two
// directions of a wire after each other, lines `flow FROM TO START BYTES` each with lines `path LINK...` there and back.
// What differs from Tightlink by necessity is what ns3.cc says. ns-3.37 hashes no flow over equal-cost paths, so
// each node looks up source and destination, which no two flows share, in a table.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

constexpr uint32_t kHeaders = 42; // PPP 2, IPv4 20, TCP 20
constexpr uint64_t kBuffer = 16 * 1024 * 1024;

uint64_t g_crossings = 0;

void CountCrossing(Ptr<const Packet>) { ++g_crossings; }

uint64_t PeakRssBytes()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    uint64_t kib = 0;
    while (status >> word)
    {
        if (word == "VmHWM:" && status >> kib)
        {
            break;
        }
    }
    return kib * 1024;
}

double SecondsSince(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Forwards by source and destination.
class PathRouting : public Ipv4RoutingProtocol
{
  public:
    void Add(Ipv4Address from, Ipv4Address to, Ptr<NetDevice> device) { m_next[{from.Get(), to.Get()}] = device; }

    /// The only address of a host, for what it sends before it has a source address.
    void SetHost(Ipv4Address address) { m_host = address; }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>,
                               const Ipv4Header& header,
                               Ptr<NetDevice>,
                               Socket::SocketErrno& error) override
    {
        Ptr<Ipv4Route> route = Find(m_host, header.GetDestination());
        error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
        return route;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    UnicastForwardCallback forward,
                    MulticastForwardCallback,
                    LocalDeliverCallback deliver,
                    ErrorCallback) override
    {
        if (header.GetDestination() == m_host)
        {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
            return true;
        }
        Ptr<Ipv4Route> route = Find(header.GetSource(), header.GetDestination());
        if (!route)
        {
            return false;
        }
        forward(route, packet, header);
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<Ipv4> ipv4) override { m_ipv4 = ipv4; }
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  private:
    Ptr<Ipv4Route> Find(Ipv4Address from, Ipv4Address to) const
    {
        const auto found = m_next.find({from.Get(), to.Get()});
        if (found == m_next.end())
        {
            return nullptr;
        }
        Ptr<Ipv4Route> route = Create<Ipv4Route>();
        route->SetSource(from);
        route->SetDestination(to);
        route->SetGateway(to);
        route->SetOutputDevice(found->second);
        return route;
    }

    std::map<std::pair<uint32_t, uint32_t>, Ptr<NetDevice>> m_next;
    Ipv4Address m_host;
    Ptr<Ipv4> m_ipv4;
};

struct Link
{
    uint32_t from, to;
    double rate, delay;
    uint32_t queue;
    Ptr<NetDevice> device;
};

struct Flow
{
    uint32_t from, to;
    double start;
    uint64_t bytes;
    std::vector<std::vector<uint32_t>> paths;
};

} // namespace

int main(int argc, char* argv[])
{
    const auto processBegan = std::chrono::steady_clock::now();
    if (argc != 3)
    {
        std::cerr << "ns3_paths FILE time|count\n";
        return 2;
    }
    const bool count = std::string(argv[2]) == "count";
    double duration = 0;
    uint32_t nodeCount = 0, payload = 0, initialWindow = 0, initialSsthresh = 0;
    std::vector<Link> links;
    std::vector<Flow> flows;
    std::ifstream file(argv[1]);
    for (std::string line; std::getline(file, line);)
    {
        std::istringstream words(line);
        std::string what;
        words >> what;
        if (what == "run")
        {
            words >> duration >> nodeCount >> payload >> initialWindow >> initialSsthresh;
        }
        else if (what == "link")
        {
            Link link{};
            words >> link.from >> link.to >> link.rate >> link.delay >> link.queue;
            links.push_back(link);
        }
        else if (what == "flow")
        {
            Flow flow{};
            words >> flow.from >> flow.to >> flow.start >> flow.bytes;
            flows.push_back(flow);
        }
        else
        {
            std::vector<uint32_t> path;
            for (uint32_t link = 0; words >> link;)
            {
                path.push_back(link);
            }
            flows.back().paths.push_back(path);
        }
    }

    const uint32_t segment = payload + 40 - kHeaders;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kBuffer));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(kBuffer));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(initialWindow));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(initialSsthresh * segment));

    NodeContainer nodes;
    nodes.Create(nodeCount);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    std::vector<Ptr<PathRouting>> routing;
    for (uint32_t i = 0; i < nodeCount; ++i)
    {
        routing.push_back(CreateObject<PathRouting>());
        nodes.Get(i)->GetObject<Ipv4>()->SetRoutingProtocol(routing.back());
    }
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.252");
    std::vector<Ipv4Address> host(nodeCount);
    for (std::size_t i = 0; i + 1 < links.size(); i += 2)
    {
        Link& link = links[i];
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(link.rate))));
        wire.SetChannelAttribute("Delay", TimeValue(Seconds(link.delay)));
        wire.SetQueue("ns3::DropTailQueue<Packet>",
                      "MaxSize",
                      QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, link.queue)));
        NetDeviceContainer devices = wire.Install(nodes.Get(link.from), nodes.Get(link.to));
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        TrafficControlHelper().Uninstall(devices); // Assign put an fq_codel above each device
        link.device = devices.Get(0);
        links[i + 1].device = devices.Get(1);
        host[link.from] = interfaces.GetAddress(0);
        host[link.to] = interfaces.GetAddress(1);
        for (uint32_t end = 0; count && end < 2; ++end)
        {
            devices.Get(end)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&CountCrossing));
        }
    }

    std::vector<Ptr<PacketSink>> sinks;
    uint16_t port = 1000;
    for (const Flow& flow : flows)
    {
        ++port;
        routing[flow.from]->SetHost(host[flow.from]);
        routing[flow.to]->SetHost(host[flow.to]);
        for (uint32_t link : flow.paths[0])
        {
            routing[links[link].from]->Add(host[flow.from], host[flow.to], links[link].device);
        }
        for (uint32_t link : flow.paths[1])
        {
            routing[links[link].from]->Add(host[flow.to], host[flow.from], links[link].device);
        }
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        ApplicationContainer receiver = sink.Install(nodes.Get(flow.to));
        receiver.Start(Seconds(0));
        sinks.push_back(receiver.Get(0)->GetObject<PacketSink>());
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(host[flow.to], port));
        source.SetAttribute("SendSize", UintegerValue(segment));
        source.SetAttribute("MaxBytes", UintegerValue(flow.bytes / payload * segment));
        source.Install(nodes.Get(flow.from)).Start(Seconds(flow.start));
    }

    const double setup = SecondsSince(processBegan);
    const auto runBegan = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    const double run = SecondsSince(runBegan);

    uint64_t packets = 0;
    for (const auto& sink : sinks)
    {
        packets += sink->GetTotalRx() / segment;
    }
    const std::string crossings = count ? std::to_string(g_crossings) : "null";
    std::printf("{\"run_wall_s\": %.6f, \"setup_wall_s\": %.6f, \"packets\": %" PRIu64
                ", \"goodput_mbps\": %.6f, \"crossings\": %s, \"peak_rss_bytes\": %" PRIu64
                ", \"events\": %" PRIu64 "}\n",
                run,
                setup,
                packets,
                8e-6 * packets * (payload + 40) / duration,
                crossings.c_str(),
                PeakRssBytes(),
                Simulator::GetEventCount());
    std::fflush(stdout);
    std::_Exit(0); // tearing thousands of objects down is nobody's figure
}
